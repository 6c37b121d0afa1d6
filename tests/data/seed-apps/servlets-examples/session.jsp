<%@ page contentType="text/plain; charset=UTF-8" session="true" %><%
Integer visits = (Integer) session.getAttribute("visits");
visits = visits == null ? 1 : visits + 1;
session.setAttribute("visits", visits);
%>id <%= session.getId() %>
visits <%= visits %>

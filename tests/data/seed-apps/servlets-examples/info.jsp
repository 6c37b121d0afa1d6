<%@ page contentType="text/plain; charset=UTF-8" session="false" %>method <%= request.getMethod() %>
uri <%= request.getRequestURI() %>
protocol <%= request.getProtocol() %>
client <%= request.getRemoteAddr() %>

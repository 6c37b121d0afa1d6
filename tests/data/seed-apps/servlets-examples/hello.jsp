<%@ page contentType="text/html; charset=UTF-8" session="false" %><!doctype html>
<html lang="en"><head><title>Hello World!</title></head><body><h1>Hello World!</h1></body></html>

-- Run once, when PostgreSQL makes its data folder.
CREATE DATABASE billing;
CREATE DATABASE scheduler;
CREATE DATABASE vmpool;

insert into core.error_codes (code, meaning, mend) values
    ('NX110', 'the tables of a queue are missing', 'select core.create_namespace(…) with the namespace''s name, or nexus-node doctor --fix: the queue is made again, empty.');

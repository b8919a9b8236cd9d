insert into core.error_codes (code, meaning, mend) values
    ('NX211', 'commit by a handler', 'Return from the handler; the node commits. Use a connection of your own for what must be committed on its own.');

insert into core.error_codes (code, meaning, mend) values
    ('NX507', 'the installer would run what somebody else owns or may change', 'Run the lines the hint lists, or name the role with --trust.');

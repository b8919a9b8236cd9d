-- Dead letters can be claimed for a time, and old ones can expire by themselves.

alter table core.dead_letters add column claimed_by text;
comment on column core.dead_letters.claimed_by is 'Who claimed it: the session user, with the role set, if any; NULL while there is no claim.';
-- Few rows have a claim. To build it reads the table once, and those who write to it wait meanwhile.
create index dead_letters_claims_idx on core.dead_letters (namespace, deadline) where status = 'reprocessing';

alter table core.namespaces add column expire_unresolved interval check (expire_unresolved > interval '0');
comment on column core.namespaces.expire_unresolved is 'After how long a dead letter that nobody resolved is resolved as expired; NULL: never.';

insert into core.error_codes (code, meaning, remedy) values
    ('NX217', 'dead letter claimed by somebody else',
        'Wait until the claim ends, or give its token.'),
    ('NX303', 'claim of a dead letter lost',
        'Roll back; its time was over, so another may have it. Claim it anew.');

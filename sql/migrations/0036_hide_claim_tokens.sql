-- Readers of the ledger see a mark of the token of a claim, as core_private.token_mark makes it, and not the token.

update core.dead_letters
   set claim_token = encode(substr(sha256(uuid_send(claim_token)), 1, 16), 'hex')::uuid
 where claim_token is not null;
comment on column core.dead_letters.claim_token is 'A mark of the token that proves that claim, which only who claimed has; NULL while there is none.';

-- The time of the claim became part of the fence: what is claimed comes with it. They return another type than before.
drop function if exists core.claim(text, text[], integer[], integer, interval, bigint, integer, boolean);
drop function if exists core.claim_batch(text, text[], integer[], integer, integer, bigint, integer, boolean, bigint, interval, interval);
drop function if exists core.claim_these(text, bigint[], integer[], interval);

-- Whether the pgmq here can do what Nexus asks of it (what came with 1.11), told by its objects: installed versions get
-- patched in place, and an installation from SQL has no version at all.
select exists (
         select
           from pg_proc p
           join pg_namespace n on n.oid = p.pronamespace
          where n.nspname = 'pgmq' and p.proname = 'send_topic'
            and oidvectortypes(p.proargtypes) = 'text, jsonb, jsonb, integer')
   and exists (
         select
           from pg_attribute a
           join pg_class c on c.oid = a.attrelid
           join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = 'pgmq' and c.relname = 'message_record' and a.attname = 'last_read_at' and not a.attisdropped)

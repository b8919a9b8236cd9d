-- error: a function without a pinned search_path runs what its caller's path names.
-- remedy: set search_path = pg_catalog, pg_temp. Excepted are small SQL functions that must be inlined and procedures that commit; both name everything in full.
select p.oid::regprocedure::text
  from pg_proc p
 where p.pronamespace in ('core'::regnamespace, 'core_node'::regnamespace, 'core_private'::regnamespace)
   and not exists (select from unnest(p.proconfig) c where c = 'search_path=pg_catalog, pg_temp')
   and not (p.prolang = (select oid from pg_language where lanname = 'sql') and not p.prosecdef
            and p.proname in ('now', 'iso', 'queue_relation', 'queue_sequence', 'is_event_type', 'event_type_of', 'type_if_valid', 'uuid_if_valid', 'clean_text', 'envelope', 'header_number', 'attempt_of', 'is_leased', 'headers_object', 'slot_uid', 'matches', 'logged_message', 'rate_interval',
                              'consumers_of', 'target_of', 'own_type_of', 'level_offset', 'priority_of', 'held_header', 'first_part', 'is_plain_json', 'uuid_v7', 'workflow_key', 'lane_of_key', 'is_plainly'))
   and not (p.prokind = 'p' and not p.prosecdef and p.proname in ('work_all', 'clean_session'))

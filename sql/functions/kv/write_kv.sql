-- Every change of a key, but for the sweep that removes what has expired, is made here, with the row as it was in hand
-- and locked. The clock is read under that lock: who waited for it sees as expired what has expired meanwhile.
--
-- A key that is not there has nothing to lock. Who comes second to make it waits at the index, and looks again.
create or replace function core_private.write_kv(
    p_namespace text, p_collection text, p_key text,
    p_value jsonb, p_ttl interval, p_version bigint = null, p_present boolean = null,
    out done boolean, out version bigint)
returns record
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_old   core.kv_entries;
    v_now   timestamptz;
    v_until timestamptz;
    v_kept  boolean; -- there is a row, be it expired
    v_there boolean;
begin
    loop
        select *
          into v_old
          from core.kv_entries k
         where k.namespace = p_namespace and k.collection = p_collection collate "C" and k.key = p_key collate "C"
           for update;
        v_kept := found;
        v_now := core_private.now();
        v_until := v_now + p_ttl;
        v_there := v_kept and (v_old.expires_at is null or v_old.expires_at > v_now);
        version := case when v_there then v_old.version end;
        done := (p_version is null or p_version = coalesce(version, 0))
            and (p_present is null or p_present = v_there)
            and (p_value is not null or v_there);
        if not done then
            return;
        end if;
        if p_value is null then
            delete from core.kv_entries k
             where k.namespace = p_namespace and k.collection = p_collection collate "C" and k.key = p_key collate "C";
            perform core_private.note_mutation(
                p_namespace, p_collection, 'delete', to_jsonb(p_key), v_old.value, null, null, v_now);
            return;
        end if;
        -- By text: 1 and 1.0 are equal, and not the same. A version that was compared with is used up: of two who
        -- compare with it one is done.
        if p_version is null and v_there and v_old.expires_at is not distinct from v_until
           and v_old.value::text = p_value::text then
            return;
        end if;
        version := core_private.next_kv_version();
        if v_kept then
            update core.kv_entries k
               set value = p_value, version = write_kv.version, expires_at = v_until, updated_at = v_now,
                   created_at = case when v_there then k.created_at else v_now end,
                   updated_by = core_private.principal()
             where k.namespace = p_namespace and k.collection = p_collection collate "C" and k.key = p_key collate "C";
            if not v_there then
                perform core_private.note_mutation(
                    p_namespace, p_collection, 'delete', to_jsonb(p_key), v_old.value, null, null, v_now,
                    p_more => '{"expired": true}');
                perform core_private.note_mutation(
                    p_namespace, p_collection, 'insert', to_jsonb(p_key), null, p_value, null, v_now);
            elsif v_old.value::text <> p_value::text then
                perform core_private.note_mutation(
                    p_namespace, p_collection, 'update', to_jsonb(p_key), v_old.value, p_value,
                    core_private.changed_members(v_old.value, p_value), v_now);
            end if;
            return;
        end if;
        perform core_private.keep_namespace(p_namespace);
        insert into core.kv_entries (
            namespace, collection, key, value, version, created_at, updated_at, expires_at, updated_by)
        values (
            p_namespace, p_collection, p_key, p_value, version, v_now, v_now, v_until, core_private.principal())
        on conflict (namespace, collection, key) do nothing;
        if found then
            perform core_private.note_mutation(
                p_namespace, p_collection, 'insert', to_jsonb(p_key), null, p_value, null, v_now);
            return;
        end if;
    end loop;
end $$;
comment on function core_private.write_kv(text, text, text, jsonb, interval, bigint, boolean) is 'Sets a key, or deletes it where p_value is NULL, if it has p_version (0: it is not there) and p_present says whether it is there, each unless NULL. version is then its new one, or the one that was deleted; where it is not done, the one it has, NULL if it is not there. Raises NX101.';

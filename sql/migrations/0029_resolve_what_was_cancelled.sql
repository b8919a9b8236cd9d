-- A delivery that somebody cancelled is kept like one that was given up, resolved from the start.
alter table core.dead_letters
    drop constraint dead_letters_resolution_check,
    add constraint dead_letters_resolution_check check (resolution in ('replayed', 'ignored', 'handled_by_handler', 'discarded', 'expired', 'cancelled'));

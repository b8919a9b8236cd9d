-- It returns more than before.
drop function if exists core.workflow_tree(uuid);

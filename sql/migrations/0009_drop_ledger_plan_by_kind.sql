-- The kind is a column of what is given up: a literal would let the planner take an index of one kind, whole.
drop function if exists core_private.ledger_plan(text);

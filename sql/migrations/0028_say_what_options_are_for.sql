comment on column core.namespaces.options is 'What create_namespace and alter_namespace were given, in the words it was given in; the other columns are what is in force.';

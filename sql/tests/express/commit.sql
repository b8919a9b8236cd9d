-- H3: no commit but the node's
-- holds: H3-ended
select throws_ok('select core_node.refuse_commit()', 'NX211', null, 'what runs at the commit of somebody else refuses it');
declare nexus_unsettled no scroll cursor with hold for select core_node.refuse_commit();
set constraints all immediate;
select core.create_namespace('shop');
close nexus_unsettled;
select pass('it runs at the commit alone, and not once it was closed');

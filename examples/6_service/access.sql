create role shop_service login password 'change-me';
grant nexus_producer, nexus_consumer to shop_service;

grant select, insert, update on orders, customers to shop_service;
grant insert on mails to shop_service;

-- S3: what is allowed and seldom meant is shown with the task; TestWarningsAreSaid holds that it is said as well
select core.create_namespace('shop');
select core.schedule_task('shop', 'either', '0 0 13 * 5', 'friday.came');
select core.schedule_task('shop', 'leap', '0 0 29 2 *', 'leapday.came');
select core.schedule_task('shop', 'plain', '0 0 13 * *', 'thirteenth.came');
select is(warnings, array['Both day and weekday are restricted: it runs when either matches.'], 'day and weekday') from core.task_status where name = 'either';
select is(warnings, array['February 29 comes in leap years only.'], 'a leap day') from core.task_status where name = 'leap';
select is(warnings, '{}'::text[], 'nothing to say') from core.task_status where name = 'plain';

-- Fixed work for the database: inserts, indexes, joins, aggregates, updates, a trigger, a view, full-text and geometric search, JSON.
create table item(id integer primary key, number int, text text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into item select i, (i * 7919) % 10007, 'row ' || i from n;
create index item_number on item(number);
select count(*), sum(number), min(text), max(text) from item where number between 100 and 5000;
select number % 10 as last, count(*), avg(id), group_concat(substr(text, 5, 2)) from item where id % 97 = 0 group by last order by 2 desc, 1;
update item set text = upper(text) || number where number % 3 = 0;
select count(*) from item x join item y on x.number = y.id where y.text like '%99%';
create view even as select * from item where id % 2 = 0;
select sum(number), count(distinct number % 100) from even;
select id, number, sum(number) over (order by id rows between 3 preceding and current row) from item where id < 12;
create table log(id int, old text, new text);
create trigger on_change after update on item begin insert into log values (old.id, old.text, new.text); end;
update item set text = replace(text, 'row', 'line') where id between 3000 and 4500;
select count(*), max(length(new)) from log;
create virtual table words using fts5(body);
insert into words select text || ' number ' || number || ' of ' || (id % 13) from item where id <= 4000;
select count(*) from words where words match 'line AND 7';
select rowid, body from words where words match 'number NEAR of' order by rank, rowid limit 5;
create virtual table boxes using rtree(id, left, right, bottom, top);
insert into boxes select id, number, number + id % 50, id % 997, id % 997 + 20 from item where id <= 4000;
select count(*) from boxes where left > 1000 and right < 4000 and top > 100 and bottom < 600;
select json_extract(json_group_array(json_object('id', id, 'text', text)), '$[5].text') from item where id < 400;
select round(sum(sqrt(number) * sin(id)), 6) from item;
delete from item where number < 2000;
select count(*), total(length(text)) from item;
pragma integrity_check;

-- Other work than that of benchmark.sql, for a profile.
create table person(id integer primary key, name text, city int, born int);
create table city(id integer primary key, name text unique);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 40) insert into city select i, 'city ' || i from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000)
  insert into person select i, 'person ' || (i * 31 % 6007), i % 40 + 1, 1900 + i % 120 from n;
create index person_city on person(city, born);
select city.name, count(*), min(born) from person join city on city.id = person.city where born > 1950 group by city.id order by 2, 1 limit 7;
select name from person where city = 7 and born between 1960 and 1965 order by name;
select count(*) from person where name like 'person 1%' or born in (select max(born) from person group by city);
update person set born = born + 1 where id % 5 = 0;
select born / 10, count(*), rank() over (order by count(*) desc) from person group by 1 having count(*) > 400 order by 1;
create virtual table notes using fts5(body);
insert into notes select name || ' lives in city ' || city from person where id <= 1500;
select count(*) from notes where notes match 'person OR lives';
create virtual table areas using rtree(id, left, right, bottom, top);
insert into areas select id, born, born + 3, city, city + 2 from person where id <= 1500;
select count(*) from areas where left > 1950 and right < 1990 and bottom > 5;
select sum(json_extract(json_array(id, born), '$[1]')) from person where id < 300;
delete from person where born < 1930;
select count(*), total(born) from person;
vacuum;

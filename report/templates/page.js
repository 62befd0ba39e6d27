"use strict";(()=>{
const $=id=>document.getElementById(id),all=[...document.querySelectorAll("tbody.f")];
const open=d=>{const s=d.querySelector(":scope>script");if(s)s.outerHTML=s.textContent};
document.addEventListener("toggle",e=>{if(e.target.open)open(e.target)},true);
const text=new Map,words=f=>{if(!text.has(f)){const s=f.querySelector("details>script");text.set(f,(f.rows[0].textContent+" "+(s?s.textContent:f.rows[1].textContent)).toLowerCase())}return text.get(f)};
const ticked=name=>[...document.querySelectorAll(`input[name=${name}]:checked`)].map(i=>i.value);
const apply=()=>{const q=$("q").value.trim().toLowerCase(),b=$("b").value,l=ticked("l"),c=ticked("c");let n=0;
for(const f of all){const[level,breach,certainty]=f.dataset.k.split(" ");
const on=l.includes(level)&&c.includes(certainty)&&(!b||b===breach)&&(!q||words(f).includes(q));
if(f.hidden===on)f.hidden=!on;n+=on}
$("n").textContent=`${n} of ${all.length} shown`};
let wait;$("filter").hidden=false;
$("filter").addEventListener("input",()=>{clearTimeout(wait);wait=setTimeout(apply,80)});
$("filter").addEventListener("submit",e=>e.preventDefault());
const jump=()=>{const f=location.hash.startsWith("#f-")&&$(location.hash.slice(1));if(f){f.hidden=false;const d=f.querySelector("details");open(d);d.open=true;f.scrollIntoView()}};
addEventListener("hashchange",jump);jump();
addEventListener("beforeprint",()=>{for(const f of all.slice(0,250))if(!f.hidden)f.querySelector("details").open=true});
})();

"use strict";(()=>{
const $=id=>document.getElementById(id),all=[...document.querySelectorAll("tbody.f")],at=new Map(all.map((f,i)=>[f,i]));
const drawn=+$("js").dataset.drawn,per=+$("js").dataset.parcel,parcels=[...document.querySelectorAll("script.z")],opened=[],told=new Set;
const unpack=async s=>{const bytes=Uint8Array.from(atob(s.textContent),c=>c.charCodeAt(0));
return(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text()).split("\x1e")};
const late=i=>{const n=i-drawn,k=Math.floor(n/per);return n<0?"":(opened[k]??=unpack(parcels[k])).then(all=>all[n%per])};
const open=async d=>{const i=at.get(d.closest("tbody"));if(i<drawn||told.has(i))return;told.add(i);d.insertAdjacentHTML("beforeend",await late(i))};
document.addEventListener("toggle",e=>{if(e.target.open)open(e.target)},true);
const text=[],words=async(f,i)=>text[i]??=((i<drawn?f.textContent:f.rows[0].textContent+" "+(await late(i)).replace(/<[^>]*>/g," "))).toLowerCase();
const ticked=name=>[...document.querySelectorAll(`input[name=${name}]:checked`)].map(i=>i.value);
let turn=0;
const apply=async()=>{const mine=++turn,q=$("q").value.trim().toLowerCase(),b=$("b").value,l=ticked("l"),c=ticked("c"),on=[];let n=0;
for(const[i,f]of all.entries()){const[level,breach,certainty]=f.dataset.k.split(" ");
on[i]=l.includes(level)&&c.includes(certainty)&&(!b||b===breach)&&(!q||(text[i]??await words(f,i)).includes(q));
if(mine!==turn)return}
for(const[i,f]of all.entries()){if(f.hidden===on[i])f.hidden=!on[i];n+=on[i]}
$("n").textContent=`${n} of ${all.length} shown`};
let wait;$("filter").hidden=false;
$("filter").addEventListener("input",()=>{clearTimeout(wait);wait=setTimeout(apply,80)});
$("filter").addEventListener("submit",e=>e.preventDefault());
const jump=async()=>{const f=location.hash.startsWith("#f-")&&$(location.hash.slice(1));if(f){f.hidden=false;const d=f.querySelector("details");await open(d);d.open=true;f.scrollIntoView()}};
addEventListener("hashchange",jump);jump();
addEventListener("beforeprint",()=>{for(const f of all.slice(0,drawn))if(!f.hidden)f.querySelector("details").open=true});
})();

// A page that changes by itself: what the server sends takes the place of what stands there. Without scripts the page is
// loaded anew every few seconds instead.
(() => {
  'use strict';
  const region = document.querySelector('[data-events]');
  const answer = document.getElementById('answer');
  if (!region || !window.EventSource) return;
  const source = new EventSource(region.dataset.events);
  source.addEventListener('message', (event) => {
    const news = JSON.parse(event.data);
    const focus = document.activeElement && region.contains(document.activeElement) ? document.activeElement.id : '';
    const open = [...region.querySelectorAll('details[open]')].map((part) => part.id);
    // The server escaped every name in it; the policy of this page lets no script of its run.
    region.innerHTML = news.html;
    for (const id of open) { const part = document.getElementById(id); if (part) part.open = true; }
    if (focus) { const part = document.getElementById(focus); if (part) part.focus(); }
    // Said aloud by screen readers, so only where it is another one.
    if (answer && answer.textContent !== news.answer) answer.textContent = news.answer;
    region.dataset.fresh = String(Number(region.dataset.fresh || 0) + 1);
  });
})();

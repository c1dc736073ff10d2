// Draws each surface of the page again, so that it can be turned. The drawing that the page came with stays for paper, and wherever
// this does not run.
(() => {
  'use strict';
  const SPACE = document.querySelector('svg').namespaceURI;
  const made = (name, attributes, words) => {
    const element = document.createElementNS(SPACE, name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    if (words !== undefined) element.textContent = words;
    return element;
  };
  const LABELLED = 4;

  const enliven = (figure) => {
    const { files, records, cells, ticks, cliff, unit } = JSON.parse(figure.querySelector('script').textContent);
    const still = figure.querySelector('.still');
    const live = document.createElement('div');
    live.className = 'live';
    const svg = made('svg', { class: 'turns', tabindex: '0', role: 'img', 'aria-label': `${figure.querySelector('h3').textContent}. The arrow keys turn it, 0 turns it back.` });
    live.append(svg);
    still.before(live);
    figure.classList.add('is-live');
    const HOME = { turn: Math.PI / 4, tilt: 0.5 };
    let { turn, tilt } = HOME;

    const draw = () => {
      const [width, height] = live.clientWidth < 420 ? [344, 300] : [560, 400];
      svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
      const [sin, cos] = [Math.sin(turn), Math.cos(turn)];
      const reach = Math.min((width - 110) / 1.42, (height - 60) / (1.42 * tilt + 0.75 * Math.cos(Math.asin(tilt))));
      const lift = reach * 0.75 * Math.cos(Math.asin(tilt));
      const middle = [width / 2, (height + lift) / 2 + 2];
      // From record and file size and speed, each from 0 to 1, to the paper; and how far in front a point is.
      const front = (r, f) => (r - 0.5) * sin + (f - 0.5) * cos;
      const at = (r, f, up) => [middle[0] + ((r - 0.5) * cos - (f - 0.5) * sin) * reach, middle[1] + front(r, f) * tilt * reach - up * lift];
      const r = (column) => column / (records.length - 1), f = (row) => row / (files.length - 1);
      const [rBack, fBack] = [sin > 0 ? 0 : 1, cos > 0 ? 0 : 1];
      const [rFront, fFront] = [1 - rBack, 1 - fBack];
      const parts = [];
      const line = (...ends) => parts.push(made('polyline', { class: 'faint', fill: 'none', points: ends.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ') }));
      const text = (x, y, anchor, words, kind = 'tick') => parts.push(made('text', { class: kind, x: x.toFixed(1), y: y.toFixed(1), 'text-anchor': anchor }, words));
      line(at(0, 0, 0), at(1, 0, 0), at(1, 1, 0), at(0, 1, 0), at(0, 0, 0));
      for (const [a, b] of [[rBack, fBack], [rBack, fFront], [rFront, fBack]]) line(at(a, b, 0), at(a, b, 1));
      // The upright scale stands at whichever end of the walls is on the left.
      const ends = [[rBack, fFront], [rFront, fBack]].sort((a, b) => at(...a, 0)[0] - at(...b, 0)[0]);
      for (const [share, words] of ticks) {
        line(at(rBack, fFront, share), at(rBack, fBack, share), at(rFront, fBack, share));
        const [x, y] = at(...ends[0], share);
        text(x - 5, y + 4, 'end', words);
      }
      const along = (sizes, place) => {
        const every = Math.ceil(sizes.length / LABELLED);
        const left = place(0.5)[0] < middle[0];
        sizes.forEach((size, index) => {
          if ((sizes.length - 1 - index) % every) return;
          const [x, y] = place(index / (sizes.length - 1));
          if (Math.abs(x - at(...ends[0], 0)[0]) > 8) text(x + (left ? -2 : 4), y + 14, left ? 'end' : 'start', size);
        });
        return left;
      };
      const recordsLeft = along(records, (place) => at(place, fFront, 0));
      along(files, (place) => at(rFront, place, 0));
      text(2, 12, 'start', unit, 'title');
      text(2, height - 6, 'start', recordsLeft ? 'record size' : 'file size', 'title');
      text(width - 2, height - 6, 'end', recordsLeft ? 'file size' : 'record size', 'title');
      const patches = [];
      for (let row = 0; row + 1 < files.length; row += 1) {
        for (let column = 0; column + 1 < records.length; column += 1) {
          const corners = [[row, column], [row, column + 1], [row + 1, column + 1], [row + 1, column]];
          const found = corners.map(([a, b]) => cells[a][b]);
          if (found.some((cell) => !cell)) continue;
          const points = corners.map(([a, b], index) => at(r(b), f(a), found[index][0]));
          const step = Math.floor(found.reduce((sum, cell) => sum + cell[1], 0) / 4);
          const patch = made('polygon', { class: `patch heat-${step}`, points: points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ') });
          patch.append(made('title', {}, `${files[row]}–${files[row + 1]} in records of ${records[column]}–${records[column + 1]}: ${found.map((cell) => cell[2]).join(', ')} ${unit}`));
          patches.push([front(r(column + 0.5), f(row + 0.5)), patch]);
        }
      }
      patches.sort((a, b) => a[0] - b[0]);
      parts.push(...patches.map(([, patch]) => patch));
      if (cliff) {
        const points = records.map((_, column) => cells[cliff - 1][column] && at(r(column), f(cliff - 1), cells[cliff - 1][column][0])).filter(Boolean);
        parts.push(made('polyline', { class: 'edge', points: points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ') }));
      }
      svg.replaceChildren(...parts);
    };
    const by = (across, up) => {
      turn = (turn + across) % (2 * Math.PI);
      tilt = Math.max(0.15, Math.min(0.95, tilt + up));
      draw();
    };
    let held = null;
    svg.addEventListener('pointerdown', (event) => { held = [event.clientX, event.clientY]; svg.setPointerCapture(event.pointerId); svg.focus({ preventScroll: true }); });
    svg.addEventListener('pointermove', (event) => {
      if (!held) return;
      by((held[0] - event.clientX) / 120, (event.clientY - held[1]) / 300);
      held = [event.clientX, event.clientY];
    });
    for (const end of ['pointerup', 'pointercancel']) svg.addEventListener(end, () => { held = null; });
    svg.addEventListener('keydown', (event) => {
      const does = { ArrowLeft: () => by(0.15, 0), ArrowRight: () => by(-0.15, 0), ArrowUp: () => by(0, -0.06), ArrowDown: () => by(0, 0.06), 0: () => { ({ turn, tilt } = HOME); draw(); } };
      if (event.ctrlKey || event.metaKey || event.altKey || !does[event.key]) return;
      event.preventDefault();
      does[event.key]();
    });
    let width = 0;
    new ResizeObserver(() => { if (live.clientWidth !== width) { width = live.clientWidth; draw(); } }).observe(live);
    draw();
  };
  document.querySelectorAll('figure.plot > script[type="application/json"]').forEach((data) => enliven(data.parentElement));
})();

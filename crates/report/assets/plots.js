
// Draws each plot of the page again with uPlot, from the data beside it, so that it can be read off and zoomed into. The drawing
// that the page came with stays for paper, and wherever this does not run.
(() => {
  'use strict';
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const VARIABLE = { ink: '--plot-ink', muted: '--plot-muted', hit: '--plot-mark' };
  const colour = (hue) => style(VARIABLE[hue] || `--series-${hue.slice(1)}`);
  const FONT = '12px system-ui, sans-serif';

  // A value in the words of the page: three digits, and its unit.
  const UNITS = {
    bytes: [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 1024], ['B', 1]],
    time: [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]],
    rate: [['GB/s', 1e9], ['MB/s', 1e6], ['KB/s', 1e3], ['B/s', 1]],
  };
  const digits = (value, most) => String(Number(value.toPrecision(Math.max(most, Math.ceil(Math.log10(Math.abs(value) + 1))))));
  const said = (axis, value, most = 3) => {
    if (axis.is === 'place') return axis.names[Math.round(value)] ?? '';
    if (axis.is === 'nines') return `${Number((100 - 100 * 10 ** -value).toPrecision(Math.ceil(value) + 3))} %`;
    if (axis.is === 'share') return `${digits(100 * value, most)} %`.replace('-', '−');
    if (axis.is === 'count') return digits(Math.round(value), most);
    const units = UNITS[axis.is];
    if (!units) return digits(value, most);
    if (value === 0) return '0';
    const [unit, factor] = units.find(([, factor]) => Math.abs(value) >= factor * 0.9995) || units[units.length - 1];
    return `${digits(value / factor, most)} ${unit}`.replace('-', '−');
  };

  // Round values between two others: as `view::axis` chooses them for the whole axis.
  const steps = (low, high, step) => {
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) found.push(at * step);
    return found;
  };
  const linear = (axis, low, high, most) => {
    const rough = (high - low) / most;
    if (axis.is === 'bytes') return steps(low, high, Math.max(1, 2 ** Math.ceil(Math.log2(rough))));
    const power = 10 ** Math.floor(Math.log10(rough));
    let step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
    if (axis.is === 'count' || axis.is === 'place') step = Math.max(1, step);
    return steps(low, high, step);
  };
  const logarithmic = (axis, low, high, most) => {
    if (high / low < 4) return linear(axis, low, high, most);
    if (axis.is === 'bytes') {
      const [first, last] = [Math.ceil(Math.log2(low) - 1e-9), Math.floor(Math.log2(high) + 1e-9)];
      let step = 1;
      while ((last - first) / step >= most) step *= 2;
      return steps(first, last, step).map((power) => 2 ** power);
    }
    const powers = steps(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)), 1);
    const within = (factors) => powers.flatMap((power) => factors.map((factor) => factor * 10 ** power))
      .filter((value) => value >= low * 0.999 && value <= high * 1.001);
    return [[1, 2, 5], [1, 3], [1]].map(within).find((ticks) => ticks.length <= most) || within([1]);
  };
  const ticks = (axis, low, high, most) => {
    if (axis.ticks) return axis.ticks.map(([at]) => at).filter((at) => at >= low && at <= high);
    return axis.log ? logarithmic(axis, low, high, most) : linear(axis, low, high, most);
  };
  // On a logarithmic axis the logarithm is what is drawn.
  const to = (axis, value) => axis.log ? Math.log10(Math.max(value, 1e-300)) : value;
  const from = (axis, value) => axis.log ? 10 ** value : value;

  // What can be read off: a column for each colour, over all x in ascending order.
  const columns = ({ x, y, marks, names }) => {
    const readable = new Map();
    for (const mark of marks) {
      const points = mark.m === 'bars' ? mark.of.map(([low, high, top]) => [(to(x, low) + to(x, high)) / 2, to(y, top)])
        : mark.x && mark.y && mark.m !== 'words' ? mark.x.map((at, index) => [to(x, at), to(y, mark.y[index])]) : null;
      if (!points || !points.length || mark.hue === 'muted') continue;
      // Where a colour has a line and dots, the dots are what was measured.
      const before = readable.get(mark.hue);
      if (before && before.m === mark.m) before.points.push(...points);
      else if (!before || mark.m === 'dots') readable.set(mark.hue, { m: mark.m, points });
    }
    const hues = [...readable.keys()];
    const all = hues.flatMap((hue, column) => readable.get(hue).points.map(([at, value]) => [at, column, value]));
    all.sort((a, b) => a[0] - b[0]);
    const data = [[], ...hues.map(() => [])];
    for (const [at, column, value] of all) {
      const last = data[0].length - 1;
      if (last >= 0 && data[0][last] === at && data[column + 1][last] === null) {
        data[column + 1][last] = value;
      } else {
        data[0].push(at);
        data.slice(1).forEach((values, other) => values.push(other === column ? value : null));
      }
    }
    return { data, hues, names: hues.map((hue) => names[hue] || y.title) };
  };

  const draw = (u, plot, hidden) => {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio || 1;
    const px = (value) => u.valToPos(to(plot.x, value), 'x', true);
    const py = (value) => u.valToPos(to(plot.y, value), 'y', true);
    const path = (points) => { ctx.beginPath(); points.forEach(([a, b], at) => at ? ctx.lineTo(a, b) : ctx.moveTo(a, b)); ctx.stroke(); };
    const write = (words, at, y, shift) => {
      const right = at > bbox.left + bbox.width * (shift === 5 ? 0.5 : 0.85);
      ctx.textAlign = right ? 'right' : 'left';
      ctx.fillText(words, at + (right ? -shift : shift) * ratio, y);
    };
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = FONT.replace('12', String(12 * ratio));
    ctx.lineJoin = 'round';
    for (const mark of plot.marks.filter((mark) => !hidden.has(mark.hue))) {
      ctx.globalAlpha = mark.m === 'band' ? 0.12 : mark.a ?? 1;
      ctx.strokeStyle = ctx.fillStyle = colour(mark.hue);
      ctx.lineWidth = (mark.w || (mark.m === 'whiskers' ? 2 : 1)) * ratio;
      const bottom = bbox.top + bbox.height;
      if (mark.m === 'dots') {
        mark.x.forEach((at, index) => { ctx.beginPath(); ctx.arc(px(at), py(mark.y[index]), mark.r * ratio, 0, 7); ctx.fill(); });
      } else if (mark.m === 'line') {
        path(mark.x.map((at, index) => [px(at), py(mark.y[index])]));
      } else if (mark.m === 'whiskers') {
        mark.of.forEach(([at, low, high]) => path([[px(at), py(low)], [px(at), py(high)]]));
      } else if (mark.m === 'bars') {
        mark.of.forEach(([low, high, top]) => ctx.fillRect(px(low), py(top), Math.max(px(high) - px(low), ratio), bottom - py(top)));
      } else if (mark.m === 'band') {
        ctx.fillRect(px(mark.low), bbox.top, px(mark.high) - px(mark.low), bbox.height);
      } else if (mark.m === 'level') {
        path([[bbox.left, py(mark.at)], [bbox.left + bbox.width, py(mark.at)]]);
      } else if (mark.m === 'guide') {
        ctx.setLineDash([4 * ratio, 4 * ratio]);
        path([[px(mark.at), bbox.top], [px(mark.at), bottom]]);
        ctx.setLineDash([]);
        write(mark.words, px(mark.at), bbox.top + (12 + 16 * mark.row) * ratio, 5);
      } else if (mark.m === 'words') {
        write(mark.words, px(mark.x), py(mark.y) - 7 * ratio, 6);
      }
    }
    ctx.restore();
  };

  const element = (name, kind, words) => {
    const made = document.createElement(name);
    made.className = kind;
    if (words) made.textContent = words;
    return made;
  };

  const enliven = (figure) => {
    const plot = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    const still = figure.querySelector('.still');
    const { data, hues, names } = columns(plot);
    const hidden = new Set();
    const live = element('div', 'live');
    const tip = element('div', 'tip');
    const whole = element('button', 'whole', 'whole range');
    const title = figure.querySelector('h3').textContent;
    whole.type = 'button';
    whole.hidden = tip.hidden = true;
    tip.setAttribute('role', 'status');
    live.tabIndex = 0;
    live.setAttribute('role', 'group');
    live.setAttribute('aria-label', `${title}. Left and right arrow move from point to point, plus and minus zoom, 0 shows the whole range.`);
    live.append(element('div', 'axis-title', plot.y.title), whole);
    still.before(live);
    figure.classList.add('is-live');

    const size = () => {
      const width = Math.max(200, Math.min(640, live.clientWidth));
      return { width, height: Math.round(width < 420 ? width * 0.7 : width * 0.5) };
    };
    const range = (axis) => [to(axis, axis.low), to(axis, axis.high)];
    const reset = () => u.batch(() => ['x', 'y'].forEach((key) => { const [min, max] = range(plot[key]); u.setScale(key, { min, max }); }));
    const scale = (axis) => ({ time: false, auto: false, min: range(axis)[0], max: range(axis)[1], range: (_, min, max) => [min, max] });
    const side = (axis, most) => ({
      font: FONT, stroke: () => style('--plot-muted'),
      grid: { stroke: () => style('--plot-faint'), width: 1 }, ticks: { stroke: () => style('--plot-muted'), width: 1, size: 4 },
      splits: (_, __, min, max) => ticks(axis, from(axis, min), from(axis, max), most()).map((value) => to(axis, value)),
      values: (_, splits) => splits.map((value) => axis.ticks ? (axis.ticks.find(([at]) => at === value) || [0, ''])[1] : said(axis, from(axis, value), 4)),
    });
    // The point of a column that is nearest to the pointer, of those at its x or else beside it.
    const nearest = (u, series, index, at) => {
      if (series === 0) return index;
      const values = u.data[series], xs = u.data[0];
      const pixel = (value, key) => u.valToPos(value, key);
      let best = null, least = Infinity;
      const look = (row) => {
        if (values[row] === null) return Math.abs(pixel(xs[row], 'x') - u.cursor.left);
        const across = pixel(xs[row], 'x') - u.cursor.left, up = pixel(values[row], 'y') - u.cursor.top;
        const far = across * across + up * up * 0.05;
        if (far < least) [best, least] = [row, far];
        return Math.abs(across);
      };
      for (let row = index; row >= 0 && (look(row) < 8 || best === null); row -= 1);
      for (let row = index + 1, found = best; row < xs.length && (look(row) < 8 || found === null); row += 1) found = best;
      return best;
    };
    const show = (u) => {
      const { left, top } = u.cursor;
      const shown = hues.map((hue, column) => [hue, column, u.cursor.idxs[column + 1]])
        .filter(([hue, , row]) => !hidden.has(hue) && row !== null && row !== undefined);
      tip.hidden = left === undefined || left < 0 || shown.length === 0;
      if (tip.hidden) return;
      tip.replaceChildren(...shown.map(([hue, column, row]) => {
        const line = element('p', '', `${names[column]}: ${said(plot.y, from(plot.y, u.data[column + 1][row]))} at ${said(plot.x, from(plot.x, u.data[0][row]))}`);
        line.style.setProperty('--key', colour(hue));
        return line;
      }));
      const room = u.over.clientWidth;
      tip.style.left = `${Math.max(0, Math.min(left > room / 2 ? left - tip.offsetWidth - 12 : left + 12, room - tip.offsetWidth))}px`;
      tip.style.top = `${top > u.over.clientHeight / 2 ? Math.max(-20, top - tip.offsetHeight - 12) : top + 12}px`;
    };
    const zoomed = (u) => {
      const is = (key) => { const [low, high] = range(plot[key]), { min, max } = u.scales[key]; return Math.abs(min - low) + Math.abs(max - high) > (high - low) * 1e-6; };
      whole.hidden = !(is('x') || is('y'));
    };
    const u = new uPlot({
      ...size(), legend: { show: false }, padding: [8, 24, 0, 0],
      scales: { x: scale(plot.x), y: scale(plot.y) },
      axes: [
        { ...side(plot.x, () => live.clientWidth < 420 ? 4 : 8), size: 30 },
        { ...side(plot.y, () => 7), size: (_, values) => 14 + 7 * Math.max(1, ...(values || []).map((value) => value.length)) },
      ],
      series: [{}, ...hues.map((hue) => ({ stroke: () => colour(hue), paths: () => null, points: { show: false } }))],
      cursor: {
        dataIdx: nearest, drag: { x: true, y: true, uni: 24 },
        points: { size: 9, fill: (_, column) => colour(hues[column - 1]), stroke: () => style('--card'), width: 1 },
        bind: { dblclick: () => () => { reset(); return null; } },
      },
      hooks: { draw: [(u) => draw(u, plot, hidden)], setCursor: [show], setScale: [zoomed] },
    }, data, live);
    live.append(element('div', 'axis-title below', plot.x.title));
    u.over.append(tip);

    whole.addEventListener('click', () => { reset(); live.focus(); });
    let row = -1;
    const zoom = (factor) => {
      const { min, max } = u.scales.x;
      const middle = row >= 0 ? u.data[0][row] : (min + max) / 2;
      const [low, high] = range(plot.x);
      u.setScale('x', { min: Math.max(low, middle - (middle - min) * factor), max: Math.min(high, middle + (max - middle) * factor) });
    };
    const move = (by) => {
      const { min, max } = u.scales.x, xs = u.data[0];
      const inside = xs.map((at, index) => [at, index]).filter(([at]) => at >= min && at <= max).map(([, index]) => index);
      if (!inside.length) return;
      const at = inside.indexOf(row);
      row = inside[at < 0 ? (by > 0 ? 0 : inside.length - 1) : Math.max(0, Math.min(inside.length - 1, at + by))];
      const column = u.data.findIndex((values, index) => index > 0 && values[row] !== null);
      u.setCursor({ left: u.valToPos(xs[row], 'x'), top: u.valToPos(u.data[column][row], 'y') });
    };
    live.addEventListener('keydown', (event) => {
      const does = { ArrowLeft: () => move(-1), ArrowRight: () => move(1), '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: reset, Escape: reset };
      if (event.ctrlKey || event.metaKey || event.altKey || !does[event.key] || event.target === whole) return;
      event.preventDefault();
      does[event.key]();
    });
    live.addEventListener('blur', () => { row = -1; u.setCursor({ left: -10, top: -10 }); });

    // The legend: each entry shows or hides its marks.
    figure.querySelectorAll('.keys > span').forEach((key) => {
      const button = element('button', key.className, key.textContent);
      const hue = key.dataset.hue;
      button.type = 'button';
      button.style.cssText = key.style.cssText;
      button.setAttribute('aria-pressed', 'true');
      button.addEventListener('click', () => {
        if (!hidden.delete(hue)) hidden.add(hue);
        button.setAttribute('aria-pressed', String(!hidden.has(hue)));
        const column = hues.indexOf(hue);
        if (column >= 0) u.setSeries(column + 1, { show: !hidden.has(hue) });
        u.redraw(false);
      });
      key.replaceWith(button);
    });
    new ResizeObserver(() => { const now = size(); if (now.width !== u.width) u.setSize(now); }).observe(live);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => u.redraw(false, true));
  };

  // Plots that nobody has come near yet, and those that are folded away, cost nothing.
  const watch = new IntersectionObserver((seen) => seen.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
    watch.unobserve(target);
    enliven(target);
  }), { rootMargin: '400px' });
  document.querySelectorAll('figure.plot').forEach((figure) => { if (figure.querySelector('script')) watch.observe(figure); });
})();

// The switch between light and dark, and the filters of the findings. The script sets all texts through
// textContent.
(() => {
  'use strict';
  const root = document.documentElement;
  const THEMES = ['system', 'light', 'dark'];
  const KEY = 'glee-theme';

  function stored() {
    try { return localStorage.getItem(KEY); } catch { return null; }
  }

  function paint(theme) {
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme; else delete root.dataset.theme;
  }

  let theme = THEMES.includes(stored()) ? stored() : 'system';
  paint(theme);

  function themes(button) {
    const show = () => { button.textContent = `Theme: ${theme}`; };
    button.hidden = false;
    show();
    button.addEventListener('click', () => {
      theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
      paint(theme);
      show();
      try { localStorage.setItem(KEY, theme); } catch { /* The choice lasts until the page is closed. */ }
    });
  }

  function filters(form) {
    const field = (id) => document.getElementById(id);
    const [search, path, reviewer, shown, fold] = ['search', 'path', 'reviewer', 'shown', 'fold'].map(field);
    const files = [...document.querySelectorAll('.file')].map((node) => ({
      node,
      path: node.dataset.path.toLowerCase(),
      cards: [...node.querySelectorAll('.card')].map((card) => ({
        node: card,
        severity: card.dataset.severity,
        state: card.dataset.state,
        by: card.dataset.by.split(' '),
        group: card.dataset.group,
        text: null,
      })),
    }));
    // The members of a group count as one finding.
    const total = new Set(files.flatMap((file) => file.cards.map((card) => card.group))).size;
    const number = new Intl.NumberFormat('en');
    const checked = (name) => [...form.querySelectorAll(`input[name="${name}"]:checked`)].map((box) => box.value);

    function apply() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const place = path.value.trim().toLowerCase();
      const who = reviewer ? reviewer.value : '';
      const [severities, states] = [checked('severity'), checked('state')];
      const fitting = new Set();
      for (const file of files) {
        const here = file.path.includes(place);
        let left = 0;
        for (const card of file.cards) {
          let fits = here
            && (severities.length === 0 || severities.includes(card.severity))
            && (states.length === 0 || states.includes(card.state))
            && (who === '' || card.by.includes(who));
          if (fits && words.length > 0) {
            card.text ??= `${file.path} ${card.node.textContent.toLowerCase()}`;
            fits = words.every((word) => card.text.includes(word));
          }
          if (card.node.hidden === fits) card.node.hidden = !fits;
          if (fits) { left += 1; fitting.add(card.group); }
        }
        if (file.node.hidden === (left > 0)) file.node.hidden = left === 0;
      }
      const count = fitting.size;
      shown.textContent = count === total
        ? `${number.format(total)} ${total === 1 ? 'finding' : 'findings'}`
        : `${number.format(count)} of ${number.format(total)} findings`;
      field('nothing').hidden = count > 0;
    }

    function reveal() {
      const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
      if (!target) return;
      const card = target.closest('details');
      if (card && card.hidden) { form.reset(); apply(); }
      if (card) card.open = true;
      target.scrollIntoView();
    }

    form.hidden = false;
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('input', apply);
    form.addEventListener('reset', () => setTimeout(apply));
    fold.addEventListener('click', () => {
      const open = fold.textContent === 'Open all';
      for (const file of files) for (const card of file.cards) card.node.open = open;
      fold.textContent = open ? 'Close all' : 'Open all';
    });
    document.addEventListener('keydown', (event) => {
      const typing = event.target.closest('input, select, textarea');
      if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        search.focus();
      }
    });
    window.addEventListener('hashchange', reveal);
    // A browser can restore the fields of a reopened page, so the script applies the filters when the page is
    // loaded.
    apply();
    reveal();
  }

  function print() {
    let closed = [];
    window.addEventListener('beforeprint', () => {
      closed = [...document.querySelectorAll('details:not([open])')];
      for (const node of closed) node.open = true;
    });
    window.addEventListener('afterprint', () => { for (const node of closed) node.open = false; });
  }

  document.addEventListener('DOMContentLoaded', () => {
    const [button, form] = ['theme', 'filters'].map((id) => document.getElementById(id));
    if (button) themes(button);
    if (form) filters(form);
    print();
  });
})();

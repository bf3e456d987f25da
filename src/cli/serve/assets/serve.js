// The live view of a run, and the form of a ruling. The script sets all texts through textContent.
(() => {
  'use strict';

  // The maximum number of lines in the log.
  const MOST = 2000;

  function live(node) {
    const [box, log, working, idle, state, connection, dropped] =
      ['box', 'log', 'working', 'idle', 'state', 'connection', 'dropped'].map((id) => document.getElementById(id));
    const number = new Intl.NumberFormat('en');
    let removed = 0;

    function element(name, text) {
      const made = document.createElement(name);
      made.textContent = text;
      return made;
    }

    function show(events) {
      const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
      const added = document.createDocumentFragment();
      for (const event of events) {
        for (const line of event.lines) {
          const item = document.createElement('li');
          item.append(element('time', event.time), element('span', line));
          added.append(item);
        }
        if (event.started) start(event.started);
        if (event.finished) finish(event.finished);
        if (event.dispute) {
          const item = document.createElement('li');
          const link = element('a', `Open dispute ${event.dispute}`);
          link.href = node.dataset.dispute + encodeURIComponent(event.dispute);
          item.append(element('time', event.time), link);
          added.append(item);
        }
        if (event.ended) {
          working.replaceChildren();
          state.textContent = event.ended;
        } else {
          state.textContent = `not ended; last event ${event.time}`;
        }
      }
      log.append(added);
      while (log.children.length > MOST) {
        log.firstElementChild.remove();
        removed += 1;
      }
      if (removed > 0) {
        dropped.hidden = false;
        dropped.textContent = `${number.format(removed)} earlier lines were removed from this page.`;
      }
      idle.hidden = working.children.length > 0;
      if (isAtEnd) box.scrollTop = box.scrollHeight;
    }

    function start(call) {
      finish(call.call);
      const item = document.createElement('li');
      item.dataset.call = call.call;
      const role = element('span', call.role);
      role.className = 'soft';
      item.append(element('strong', call.agent), ' ', role, ' ', element('span', call.activity));
      working.append(item);
    }

    function finish(call) {
      for (const item of [...working.children]) if (item.dataset.call === call) item.remove();
    }

    // Many events can arrive at the same time. The page shows all events that arrive within 50 milliseconds
    // together.
    let waiting = [];
    const source = new EventSource(node.dataset.events);
    source.addEventListener('open', () => { connection.textContent = 'live'; });
    source.addEventListener('error', () => {
      connection.textContent = source.readyState === EventSource.CLOSED
        ? 'The connection is closed. Reload the page, or start glee serve again.'
        : 'The connection was lost. Connecting again …';
    });
    source.addEventListener('message', (message) => {
      if (waiting.length === 0) {
        setTimeout(() => { const events = waiting; waiting = []; show(events); }, 50);
      }
      waiting.push(JSON.parse(message.data));
    });
    box.scrollTop = box.scrollHeight;
  }

  // The fields of a dismissal are enabled only if the person chooses a dismissal.
  function ruling(form) {
    const fields = form.querySelector('.of-dismissal');
    const update = () => { fields.disabled = form.elements.word.value !== 'dismiss'; };
    form.addEventListener('input', update);
    update();
  }

  const [node, form] = ['live', 'ruling-form'].map((id) => document.getElementById(id));
  if (node) live(node);
  if (form) ruling(form);
})();

import { useEffect, useState } from '../vendor/hooks.js';
import { ConfirmButton } from './confirm.js';
import { progressText } from './replay-progress.js';
import { useMayWrite } from '../data/session-context.js';
import { useClient, useList } from '../data/use-resource.js';
import { fullTime } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Badge, Failure, Text, When } from '../parts/parts.js';
import { Table } from '../parts/table.js';

/** @import { Replay } from '../../api-types.ts' */
/** @import { List } from '../data/use-resource.js' */
/** @import { Tone } from '../parts/parts.js' */

const runningMs = 1000;
const idleMs = 15_000;

/** @type {Readonly<Record<Replay['state'], Tone>>} */
const tones = { running: 'busy', finished: 'good', cancelled: 'plain' };

/**
 * The replays of a subscription, newest first, with their progress; nothing if there are none.
 * @param {{ path: string, turn: number }} props `path`: of the subscription; another `turn` reads them at
 * once
 */
export function Replays({ path, turn }) {
  const [everyMs, setEveryMs] = useState(runningMs);
  const mayWrite = useMayWrite();
  /** @type {List<Replay>} */
  const { data, error, showMore, reload } = useList(`${path}/replays?limit=10`, everyMs);
  const isRunning = data?.items.some(({ state }) => state === 'running') ?? true;
  useEffect(() => setEveryMs(isRunning ? runningMs : idleMs), [isRunning]);
  useEffect(reload, [turn]);
  if (data === null) return html`<${Failure} error=${error} what="read the replays" />`;
  if (data.items.length === 0) return null;
  return html`<section aria-labelledby="replays">
    <h2 id="replays">Replays</h2>
    <${Failure} error=${error} what="read the replays again" />
    <${Table}
      caption="Replays, newest first"
      columns=${['Requested', 'Which', 'State', 'Progress', ...(mayWrite ? ['Action'] : [])]}
      rows=${data.items.map((replay) => ({
        key: replay.id,
        cells: [
          html`<${When} at=${replay.createdAt} />`,
          html`<${Text} value=${conditionsOf(replay)} />`,
          html`<${Badge} word=${replay.state} tone=${replay.failed > 0 ? 'warn' : tones[replay.state]} />`,
          html`<${Progress} replay=${replay} />`,
          ...(mayWrite ? [cancelOf(path, replay, reload)] : []),
        ],
      }))}
      empty=""
      more=${data.more}
      onMore=${showMore}
    />
  </section>`;
}

/** @type {(replay: Replay) => string} */
function conditionsOf({ conditions }) {
  const { after, before, eventTypes, filingId, deadLettersOnly, eventIds } = conditions;
  if (conditions.fromState) return 'each filing as it is';
  const time = (/** @type {string} */ at) => fullTime(Date.parse(at));
  const parts = [
    deadLettersOnly ? 'dead letters' : '',
    eventIds === null ? '' : eventIds.length === 1 ? 'one event' : `${eventIds.length} events`,
    after === null ? '' : `from ${time(after)}`,
    before === null ? '' : `until ${time(before)}`,
    filingId === null ? '' : `filing ${filingId}`,
    eventTypes === null ? '' : eventTypes.join(', '),
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'everything in the log' : parts.join(', ');
}

/** @param {{ replay: Replay }} props */
function Progress({ replay }) {
  const { state, matched, delivered, failed } = replay;
  return html`<span>${progressText(replay, matched)}</span> ${
      state === 'running' &&
      html`<progress max=${matched} value=${delivered + failed} aria-label="Replayed events"></progress>`
    }`;
}

/** @type {(path: string, replay: Replay, onDone: () => void) => unknown} */
function cancelOf(path, replay, onDone) {
  if (replay.state !== 'running') return html`<span class="none">–</span>`;
  return html`<${Cancel} path=${path} replay=${replay} onDone=${onDone} />`;
}

/** @param {{ path: string, replay: Replay, onDone: () => void }} props */
function Cancel({ path, replay: { id, matched, delivered, failed }, onDone }) {
  const client = useClient();
  const cancel = async () => {
    await client.send('DELETE', `${path}/replays/${encodeURIComponent(id)}`);
    onDone();
  };
  return html`<${ConfirmButton}
    label="Cancel …"
    title="Cancel the replay"
    verb="Cancel the replay"
    refusal="Let it go on"
    what="cancel the replay"
    kind="danger"
    work=${cancel}
  >
    <p>
      ${matched - delivered - failed} of ${matched} events are not sent again. What was delivered stays
      delivered. New events are not affected.
    </p>
  <//>`;
}

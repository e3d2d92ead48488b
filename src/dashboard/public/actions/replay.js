import { useEffect, useState } from '../vendor/hooks.js';
import { Dialog, DialogForm, useAction } from './actions.js';
import { ApiError, apiPath } from '../data/api-client.js';
import { number } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Failure, Notice } from '../parts/parts.js';
import { sleep } from '../data/sleep.js';
import { useClient } from '../data/use-resource.js';

/** @import { Replay } from '../data/api-types.d.ts' */

const lookEveryMs = 1000;

/**
 * Delivers events again: asks which, then shows the progress.
 * @param {{ path: string, account: string, onDone: () => void }} props `path`: of the subscription
 */
export function ReplayButton({ path, account, onDone }) {
  const client = useClient();
  const action = useAction();
  const [open, setOpen] = useState(false);
  const [started, setStarted] = useState(/** @type {{ id: string, matched: number } | null} */ (null));
  const replay = async (/** @type {FormData} */ form) => {
    setStarted(await client.send('POST', `${path}/replay`, replayRequest(form)));
    setOpen(false);
    onDone();
  };
  return html`<button type="button" onClick=${() => setOpen(true)}>Replay …</button>
    <${Dialog} title="Replay" open=${open} onClose=${() => setOpen(false)}>
      <${DialogForm}
        action=${action}
        work=${replay}
        verb="Replay"
        what="replay"
        onCancel=${() => setOpen(false)}
      >
        <p>
          Delivers events of the log again under their old ids. Receivers that heed the ids do nothing twice.
        </p>
        <fieldset>
          <legend>Which events</legend>
          <label><input type="radio" name="which" value="dead" checked /> Only dead letters</label>
          <label><input type="radio" name="which" value="all" /> Everything that matches</label>
        </fieldset>
        <label>From <input type="datetime-local" name="after" step="1" /></label>
        <label>Until <input type="datetime-local" name="before" step="1" /></label>
        <label
          >Only the filing <input name="filingId" autocomplete="off" maxlength="256" placeholder="any"
        /></label>
      <//>
    <//>
    ${started !== null && html`<${Progress} key=${started.id} account=${account} started=${started} />`}`;
}

/**
 * The body of a request for a replay; pure. Fields that were left empty are left out.
 * @param {FormData} form
 */
export function replayRequest(form) {
  const text = (/** @type {string} */ name) => /** @type {string | null} */ (form.get(name))?.trim() ?? '';
  const time = (/** @type {string} */ name) =>
    text(name) === '' ? {} : { [name]: new Date(text(name)).toISOString() };
  return {
    deadLettersOnly: text('which') === 'dead',
    ...time('after'),
    ...time('before'),
    ...(text('filingId') === '' ? {} : { filingId: text('filingId') }),
  };
}

/** @param {{ account: string, started: { id: string, matched: number } }} props */
function Progress({ account, started: { id, matched } }) {
  const { replay, error } = useProgress(apiPath('accounts', account, 'replays', id), matched > 0);
  if (matched === 0) return html`<${Notice} tone="info">No event matches, so nothing is delivered again.<//>`;
  const done = (replay?.delivered ?? 0) + (replay?.failed ?? 0);
  const finished = replay?.state === 'finished';
  return html`<${Notice} tone=${finished && replay.failed > 0 ? 'warn' : 'good'}>
    <p>${progressText(replay, matched)}</p>
    ${!finished && html`<progress max=${matched} value=${done} aria-label="Replayed events"></progress>`}
    <${Failure} error=${error} what="see how far the replay is" />
  <//>`;
}

/** @type {(replay: Replay | null, matched: number) => string} */
function progressText(replay, matched) {
  const { state = 'running', delivered = 0, failed = 0 } = replay ?? {};
  const stage = state === 'finished' ? 'Replay finished' : 'Replay under way';
  const given = failed === 0 ? '' : `, ${number(failed)} given up once more`;
  return `${stage}: ${number(delivered)} of ${number(matched)} delivered${given}.`;
}

/** @type {(path: string, wanted: boolean) => { replay: Replay | null, error: ApiError | null }} */
function useProgress(path, wanted) {
  const client = useClient();
  const [state, setState] = useState({
    replay: /** @type {Replay | null} */ (null),
    error: /** @type {ApiError | null} */ (null),
  });
  useEffect(() => {
    const leave = new AbortController();
    const look = async () => {
      for (let finished = !wanted; !finished && !leave.signal.aborted;) {
        try {
          const replay = await client.get(path, leave.signal);
          setState({ replay, error: null });
          finished = replay.state === 'finished';
        } catch (error) {
          if (error instanceof ApiError) setState(({ replay }) => ({ replay, error }));
        }
        await sleep(lookEveryMs, leave.signal);
      }
    };
    void look();
    return () => leave.abort();
  }, [client, path, wanted]);
  return state;
}

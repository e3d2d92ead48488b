import { useEffect } from '../../vendor/hooks.js';
import { sleep } from '../../data/sleep.js';
import { useFaults, usePulse } from '../../data/pulse.js';
import { clockTime } from '../format.js';
import { html } from '../html.js';
import { Text } from '../parts.js';

/** @import { Pulse } from '../../data/pulse.js' */

const lookEveryMs = 10_000;
const afterSuspicionMs = 2000;

const away = 'The daemon does not answer. Check that it runs and that this machine reaches it.';

/** The faults of the daemon as a whole, above every page. */
export function Readiness() {
  const pulse = usePulse();
  useLooks(pulse);
  const faults = useFaults();
  if (faults.length === 0) return null;
  const at = pulse.lastReadAt();
  return html`<div class="notice bad banner" role="alert">
    <strong>The daemon does not keep its promise at the moment.</strong>
    ${at !== null && html` What you see is as of ${clockTime(at, Date.now(), true)}, and grey until it is current again.`}
    <ul>
      ${faults.map((reason) => html`<li key=${reason}><${Text} value=${reason} /></li>`)}
    </ul>
  </div>`;
}

// Looks every few seconds, and at once when a request had no answer.
/** @param {Pulse} pulse */
function useLooks(pulse) {
  useEffect(() => {
    const leave = new AbortController();
    let wake = new AbortController();
    const end = pulse.listen((what) => what === 'suspicion' && wake.abort());
    const look = async () => {
      while (!leave.signal.aborted) {
        wake = new AbortController();
        const found = await readReasons(leave.signal);
        if (!leave.signal.aborted) pulse.setReasons(found);
        const pause = found.length > 0 ? afterSuspicionMs : lookEveryMs;
        await sleep(pause, found.length > 0 ? leave.signal : AbortSignal.any([leave.signal, wake.signal]));
      }
    };
    void look();
    return () => {
      end();
      leave.abort();
    };
  }, [pulse]);
}

/** @type {(signal: AbortSignal) => Promise<string[]>} */
async function readReasons(signal) {
  try {
    const response = await fetch(new URL('health/ready', document.baseURI), { signal, cache: 'no-store' });
    const { reasons } = await response.json();
    return Array.isArray(reasons) ? reasons.map(String) : [];
  } catch {
    return [away];
  }
}

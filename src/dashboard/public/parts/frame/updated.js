import { useEffect, useState } from '../../vendor/hooks.js';
import { usePulse } from '../../data/pulse.js';
import { relativeTime } from '../format.js';
import { html } from '../html.js';

const tickMs = 1000;

/** How long ago anything on the page was read. */
export function Updated() {
  const pulse = usePulse();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  const at = pulse.lastReadAt();
  return at === null
    ? null
    : html`<span class="quiet">Updated ${relativeTime(Math.min(at, now), now)}</span>`;
}

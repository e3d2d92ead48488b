import { createContext } from '../vendor/preact.js';
import { useContext, useEffect, useState } from '../vendor/hooks.js';
import { html } from './html.js';
import { useClient } from '../data/use-resource.js';

/** @import { ComponentChildren } from 'preact' */

const tickMs = 5000;
const Tick = createContext(0);

/**
 * Renders its children again as time passes.
 * @param {{ children?: ComponentChildren }} props
 */
export function Clock({ children }) {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((before) => before + 1), tickMs);
    return () => clearInterval(timer);
  }, []);
  return html`<${Tick.Provider} value=${tick}>${children}<//>`;
}

/** Milliseconds on the daemon's clock; renders again every few seconds. */
export function useNow() {
  useContext(Tick);
  return useClient().now();
}

import { useEffect, useState } from '../vendor/hooks.js';
import { html } from './html.js';
import { Loading } from './parts.js';

/**
 * A component whose file is loaded when it is first shown. While it is not there, a line says so.
 * @template {Record<string, unknown>} Props
 * @param {() => Promise<Record<string, any>>} load imports the file
 * @param {string} name the export that is the component
 * @returns {(props: Props) => unknown}
 */
export function lazy(load, name) {
  /** @type {((props: Props) => unknown) | null} */
  let loaded = null;
  return function Lazy(props) {
    const [, setTurn] = useState(0);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded !== null) return;
      load().then(
        (file) => {
          loaded = file[name];
          setTurn((turn) => turn + 1);
        },
        () => setFailed(true),
      );
    }, []);
    if (loaded !== null) return html`<${loaded} ...${props} />`;
    if (!failed) return html`<${Loading} what="the page" />`;
    return html`<p class="notice bad" role="alert">
      <strong>Could not load this page.</strong> Check that the daemon runs, then reload.
    </p>`;
  };
}

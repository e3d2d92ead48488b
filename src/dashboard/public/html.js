import { h } from './vendor/preact.js';
import { htm } from './vendor/htm.js';

/** Markup as tagged templates. Every value in them becomes text or an attribute, never markup. */
export const html = htm.bind(h);

import { createContext } from '../vendor/preact.js';
import { useContext } from '../vendor/hooks.js';

/**
 * The rights of the user who is signed in.
 * @typedef {object} SessionRights
 * @property {string | null} account the only account that is open to them; null for the operator
 * @property {boolean} [readOnly] whether nothing may be changed
 */

/** The rights of the user who is signed in. */
export const SessionContext = createContext({ account: null });

/** @returns {SessionRights} */
export const useSession = () => useContext(SessionContext);

/** Whether the user may change anything, so whether buttons that do are shown. */
export const useMayWrite = () => useSession().readOnly !== true;

/** Whether every account is open to the user. */
export const useIsOperator = () => useSession().account === null;

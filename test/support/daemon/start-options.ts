import packageJson from '../../../package.json' with { type: 'json' };

/** The options with which `npm start` runs Node: what is tested runs as what is shipped. */
export const startOptions: readonly string[] = packageJson.scripts.start
  .split(' ')
  .filter((word) => word.startsWith('--'));

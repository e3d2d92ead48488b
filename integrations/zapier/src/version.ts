/** Version of the app, that of package.json. */
export const version = '0.1.0';

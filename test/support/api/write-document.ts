import { writeDocument } from './inert-document.ts';

/** Prints the OpenAPI document; needs no Redis. */
process.stdout.write(JSON.stringify(await writeDocument()));

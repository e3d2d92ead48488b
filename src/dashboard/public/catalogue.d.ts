export * from '../catalogue.ts';

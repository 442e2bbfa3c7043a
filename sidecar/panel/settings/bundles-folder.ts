/** Name of the folder of all bundles below the server's folder, by the kind of server; null: there is none. */
export const BUNDLES_FOLDER = {
  standalone: 'bundles',
  fxserver: 'resources',
  command: 'bundles',
  none: null,
} as const;

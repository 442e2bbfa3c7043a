/** Place in which a host lets the connector run a sidecar of its own. */
export interface EmbeddedPlace {
  /** Absolute path of the sidecar's `main.js` in the bundle's own folder. */
  readonly program: string;
  /** Absolute. The next version replaces it, so that no data may lie in it. */
  readonly bundleFolder: string;
  /** Whether the program is there. */
  readonly hasProgram: () => boolean;
  /** Absolute; where data lies unless `sidecar.folder` says otherwise. */
  readonly folder: string;
  /** Absolute; a relative `sidecar.folder` starts here. */
  readonly base: string;
  /** Setting in which an owner names another Node.js. */
  readonly nodeSetting: string;
  /** Step that the owner must take so that this host lets the connector start a program; null: none. */
  readonly permissionHint: string | null;
}

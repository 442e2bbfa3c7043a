/** Reasons to refuse a server folder, in English for the API; pages have a text for each code (`errors` in `web/locales/`). */
export const FOLDER_PROBLEMS = {
  'folder-empty': 'expected the full path of a folder',
  'folder-relative': 'expected a full path, such as {folder}',
  'folder-invalid': 'expected at most 1024 characters, no control characters and no ".."',
  'folder-missing': 'the folder {folder} does not exist',
  'folder-unreadable': 'the folder {folder} cannot be read',
  'folder-root': 'expected a folder, not the root of the disk',
  'folder-reserved': 'the sidecar keeps its own files in {folder}',
  'folder-file': '{folder} is a file, not a folder',
  'folder-noBundles': 'there is no folder bundles in {folder}',
  'folder-noConfig': 'there is no file server.cfg in {folder}',
} as const;

export type FolderProblem = keyof typeof FOLDER_PROBLEMS;

/** A refused folder. `folder` is the one that the sentence of `problem` names. */
export interface RefusedFolder {
  readonly problem: FolderProblem;
  readonly folder: string;
}

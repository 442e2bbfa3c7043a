let loading: Promise<void> | null = null;

/** Adds the style sheet of the pages after sign-in, whose hashed name the build wrote into the page. */
export function loadPagesStyle(): Promise<void> {
  loading ??= add(document.querySelector('meta[name="pages-style"]')?.getAttribute('content') ?? '');
  return loading;
}

function add(href: string): Promise<void> {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = href;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  link.onload = () => resolve();
  link.onerror = () => reject(new Error(`The style sheet ${href} cannot be read.`));
  document.head.append(link);
  return promise;
}

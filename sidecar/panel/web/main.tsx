import { render } from 'preact';
import './core/theme.ts';
import { boot } from './core/session.ts';
import { App } from './shell/app.tsx';

render(<App />, document.getElementById('app') as HTMLElement);
void boot();

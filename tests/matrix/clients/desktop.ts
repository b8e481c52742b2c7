import type { Flow, MatrixClient } from '../client.ts'

const shared: Omit<Flow, 'file'> = { name: 'screenshot, keys, mouse, stream', template: 'desktop', timeoutMs: 240_000 }

export const desktopJavaScript: MatrixClient = {
  name: '@e2b/desktop (JavaScript)',
  registry: 'npm',
  package: '@e2b/desktop',
  older: ['2.3.3', '2.2.3'],
  flows: [{ ...shared, file: 'desktop.mjs' }],
}

export const desktopPython: MatrixClient = {
  name: 'e2b-desktop (Python)',
  registry: 'pypi',
  package: 'e2b-desktop',
  older: ['2.6.1', '2.4.4'],
  flows: [{ ...shared, file: 'desktop.py' }],
}

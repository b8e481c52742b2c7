import type { ComponentType } from 'preact'
import lazy from 'preact-iso/lazy'
import { laterScreen } from './later-screen.tsx'

const PAUSES_MS = [200, 1000, 3000]

/**
 * A part that is loaded when it is first shown. A load that fails is tried again: a browser on the engine's host cancels loads when a container's
 * interface comes or goes. In the end there is a button, which works when the server is back.
 */
export function lazyScreen<Props>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazy(() => retry(load).catch(() => laterScreen(load)))
}

async function retry<T>(load: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  return load()
}

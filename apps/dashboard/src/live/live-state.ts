import { signal, type ReadonlySignal } from '@preact/signals'

export type LiveState = 'connecting' | 'open' | 'waiting' | 'closed'

/** What is wrong for longer than a moment. */
export type LiveTrouble = 'unreachable' | 'noUpgrade' | 'tooMany'

const state = signal<LiveState>('closed')
const trouble = signal<LiveTrouble | undefined>(undefined)
const isOutdated = signal(false)

/** The state of the tab's one socket. */
export const liveState: ReadonlySignal<LiveState> = state
export const liveTrouble: ReadonlySignal<LiveTrouble | undefined> = trouble
/** The server has other files of the page than this one. */
export const isPageOutdated: ReadonlySignal<boolean> = isOutdated

export function setLiveState(value: LiveState): void {
  state.value = value
}

export function setLiveTrouble(value: LiveTrouble | undefined): void {
  trouble.value = value
}

/** `assets` of the server against those of `index.html`; a page of `vite dev` has none. */
export function compareAssets(assets: string): void {
  const own = document.querySelector<HTMLMetaElement>('meta[name="sandyard-assets"]')?.content
  if (own !== undefined && own !== '' && !own.startsWith('__') && own !== assets) isOutdated.value = true
}

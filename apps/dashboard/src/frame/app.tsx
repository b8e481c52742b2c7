import { useEffect } from 'preact/hooks'
import { LocationProvider } from 'preact-iso/router'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import { AskDialog } from '../parts/ask.tsx'
import { Toasts } from '../parts/toasts.tsx'
import { startLive, stopLive } from '../live/live-socket.ts'
import { me } from '../session/me.ts'
import { frameTexts } from '../texts/frame-texts.ts'
import { Banners } from './banners.tsx'
import { Header } from './header.tsx'
import { lazyScreen } from './lazy-screen.ts'
import { Navigation } from './navigation.tsx'
import { isKeysOpen, isPaletteOpen } from './palette-state.ts'
import { Routes } from './routes.tsx'
import { Start } from './start.tsx'

const Login = lazyScreen(() => import('../screens/login/login-screen.tsx').then(({ LoginScreen }) => LoginScreen))
const Palette = lazyScreen(() => import('./palette.tsx').then(({ Palette }) => Palette))
const KeysDialog = lazyScreen(() => import('./keys-dialog.tsx').then(({ KeysDialog }) => KeysDialog))

/** The login has the address of the screen that was asked for, which is there after it. */
export function App() {
  const session = me.value
  return (
    <LocationProvider scope="/dashboard">
      {session === undefined ? (
        <Start />
      ) : session === null ? (
        <main id="main" class="login-page" tabIndex={-1}>
          <ErrorBoundary name={frameTexts.title}>
            <Login />
          </ErrorBoundary>
        </main>
      ) : (
        // Another team is another page: nothing of the former one stays.
        <Frame key={`${session.role}:${session.team?.teamId ?? ''}`} />
      )}
      <AskDialog />
      <Toasts />
    </LocationProvider>
  )
}

function Frame() {
  useEffect(() => {
    startLive()
    let stopKeys = (): void => undefined
    let isGone = false
    // Keys may come a moment later than the page; without a network there are none.
    const loading = import('./shortcuts.ts').then(({ listenToKeys }) => {
      if (!isGone) stopKeys = listenToKeys()
    })
    loading.catch(() => undefined)
    return () => {
      isGone = true
      stopLive()
      stopKeys()
      isPaletteOpen.value = false
      isKeysOpen.value = false
    }
  }, [])
  const session = me.value
  if (session === null || session === undefined) return null
  return (
    <div class="frame">
      <a class="skip" href="#main">
        {frameTexts.skip}
      </a>
      <Header session={session} />
      <Navigation session={session} />
      <main id="main" class="main" tabIndex={-1}>
        <Banners session={session} />
        <ErrorBoundary name={frameTexts.title}>
          <Routes />
        </ErrorBoundary>
      </main>
      <ErrorBoundary name={frameTexts.palette}>
        {isPaletteOpen.value && <Palette />}
        {isKeysOpen.value && <KeysDialog />}
      </ErrorBoundary>
    </div>
  )
}

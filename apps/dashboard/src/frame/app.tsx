import { LocationProvider } from 'preact-iso/router'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import { Toasts } from '../parts/toasts.tsx'
import { Routes } from './routes.tsx'

export function App() {
  return (
    <LocationProvider scope="/dashboard">
      <main id="main" tabIndex={-1}>
        <ErrorBoundary name="page">
          <Routes />
        </ErrorBoundary>
      </main>
      <Toasts />
    </LocationProvider>
  )
}

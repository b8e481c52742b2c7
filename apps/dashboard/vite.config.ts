import { defineConfig } from 'vite'
import { compressAssets } from './build/compress-assets.ts'

/** `SANDYARD_DASHBOARD_DEV_API`: the server that `vite dev` passes `/dashboard/api` to. Its Origin check accepts the page's own origin only, so it is rewritten. */
const api = process.env['SANDYARD_DASHBOARD_DEV_API'] ?? 'http://127.0.0.1:3000'

/**
 * What the first screen loads whatever it is. One file for all of it compresses better than many small ones; parts that only other screens use stay
 * outside.
 */
const FIRST =
  /node_modules\/(?:preact|preact-iso|@preact)\/|src\/(?:frame\/(?:routes|navigation|header|banners|nav-links|paths|start|later-screen|app|theme|stored|stamp-styles|palette-state|lazy-screen)|texts\/frame-texts|api\/(?:call|send|use-call)|live\/(?:topic-registry|use-topic|live-socket|live-state)|session\/|parts\/(?:panel|meter|ago|now|time-text|failure-notice|icon|menu|copy-code|copy-text|ask|dialog|meter|toasts|run-action|error-boundary))/

export default defineConfig({
  base: '/dashboard/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    target: 'es2023',
    assetsInlineLimit: 0,
    // The lists of what to preload were a kilobyte of the first screen.
    modulePreload: false,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'first', test: FIRST }] } } },
    // The budget stage reads which files each screen loads.
    manifest: 'manifest.json',
  },
  server: {
    port: 5173,
    proxy: { '/dashboard/api': { target: api, ws: true, changeOrigin: true, headers: { origin: api } } },
  },
  plugins: [compressAssets()],
})

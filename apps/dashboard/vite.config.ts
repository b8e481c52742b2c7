import { defineConfig } from 'vite'
import { compressAssets } from './build/compress-assets.ts'

/** `SANDYARD_DASHBOARD_DEV_API`: the server that `vite dev` passes `/dashboard/api` to. Its Origin check accepts the page's own origin only, so it is rewritten. */
const api = process.env['SANDYARD_DASHBOARD_DEV_API'] ?? 'http://127.0.0.1:3000'

export default defineConfig({
  base: '/dashboard/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The budget stage reads which files each screen loads.
    manifest: 'manifest.json',
  },
  server: {
    port: 5173,
    proxy: { '/dashboard/api': { target: api, ws: true, changeOrigin: true, headers: { origin: api } } },
  },
  plugins: [compressAssets()],
})

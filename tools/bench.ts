/** `npm run bench`: measures a running server, as ratios within one run. See bench/README.md. */
import '../bench/src/main.ts'

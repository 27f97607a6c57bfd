import { defineConfig } from "vitest/config";

// Names without hashes, so that the built bundle can be committed and compared.
export default defineConfig({
  base: "/static/",
  build: {
    outDir: "../src/dwell/web/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: {
      output: {
        entryFileNames: "page.js",
        chunkFileNames: "[name].js",
        assetFileNames: (asset) => (asset.names[0]?.endsWith(".css") ? "page.css" : "[name][extname]"),
      },
    },
  },
  test: { css: true }, // a test reads the colours of the sheet
  server: { proxy: { "/api": { target: "http://127.0.0.1:8765", ws: true } } },
});

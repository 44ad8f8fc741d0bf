// Pages that are opened from the file system may not start workers. Search then runs in a hidden
// frame, which has the same interface.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => this.frame.addEventListener("load", resolve));
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.document.open();
      inside.document.write(
        "<script>postMessage = (data) => answer(data);" +
          "importScripts = (...urls) => Promise.all(urls.map((url) => new Promise((resolve) => {" +
          "const script = document.createElement('script');" +
          "script.src = url; script.onload = resolve; document.body.append(script); })));" +
          `</script><script src="${url}"></script>`
      );
      inside.document.close();
    }

    postMessage(data) {
      const message = () => new MessageEvent("message", { data });
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(message()));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
